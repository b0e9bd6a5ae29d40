//! What an ID type is made of, as `js/options` leaves it.

use std::sync::Arc;

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use super::options::{LayoutOptions, algorithm, unknown};
use crate::cipher::{Algorithm, no_key, no_key_of};
use crate::codec::Format;
use crate::error::Error;
use crate::generator::Generator;
use crate::id::{Base, IdType, Kind, Narrow, Spec, SpellingSpec, Wide, Width};
use crate::layout::Layout;
use crate::nonce::Overflow;

#[napi(object, object_to_js = false)]
pub struct TypeSpec {
    pub prefix: String,
    /// 64 by default.
    pub bits: Option<u32>,
    #[napi(ts_type = "'counter' | 'sortable' | 'encrypted'")]
    pub kind: String,
    #[napi(ts_type = "'counter' | 'sortable'")]
    pub base: String,
    pub format: String,
    /// Whether text of `format` has its one length; `true` by default.
    pub pad: Option<bool>,
    pub db_format: String,
    pub mask: bool,
    /// Of the mask: the name of a key of the generator's; the one without a name by default.
    pub key: Option<String>,
    /// The generator's by default.
    pub cipher: Option<String>,
    pub mask_tweak: Option<Uint8Array>,
    pub accepts: Vec<AcceptedSpelling>,
    pub persist_prefix: bool,
    /// The generator's by default.
    pub layout: Option<LayoutOptions>,
    /// '' by default: that of its kind and layout.
    pub space: Option<String>,
    #[napi(ts_type = "'wait' | 'drift'")]
    pub overflow: Option<String>,
}

#[napi(object, object_to_js = false)]
pub struct AcceptedSpelling {
    pub prefix: String,
    pub mask: bool,
    pub key: Option<String>,
    pub cipher: Option<String>,
    pub mask_tweak: Option<Uint8Array>,
    pub format: String,
    pub pad: Option<bool>,
}

/// An ID type of any width.
pub(super) enum AnyType {
    Narrow(IdType),
    Wide(IdType<Wide>),
}

impl TypeSpec {
    /// The ID type under the keys and the layout of `generator`; without one, under the default layout and no key.
    pub(super) fn convert(self, generator: Option<&Generator>) -> Result<AnyType, Error> {
        let keys = generator.map(Generator::keys);
        let width = match self.bits.unwrap_or(64) {
            64 => {
                let find = |of: &MaskSpec<'_>, what: &str| {
                    let tweak = of.tweak.unwrap_or_default();
                    keys.ok_or_else(|| no_key(what))?.cipher(of.key, of.algorithm()?, tweak, what)
                };
                let id_type = self.of_width(Narrow, generator, find)?;
                return Ok(AnyType::Narrow(match self.overflow.as_deref() {
                    None | Some("wait") => id_type,
                    Some("drift") => id_type.with_overflow(Overflow::Drift)?,
                    Some(other) => return Err(unknown("overflow", other)),
                }));
            }
            96 => Wide::Bits96,
            128 => Wide::Bits128,
            other => return Err(unknown("bits", &other.to_string())),
        };
        let find = |of: &MaskSpec<'_>, what: &str| {
            if of.tweak.is_some() {
                return Err(Error::config("maskTweak", "maskTweak: expected none but with 64 bits"));
            }
            let size = width.size();
            keys.ok_or_else(|| no_key_of(size, what))?.wide_cipher(size, of.key, of.algorithm()?, what)
        };
        self.of_width(width, generator, find).map(AnyType::Wide)
    }

    fn of_width<W: Width>(
        &self,
        width: W,
        generator: Option<&Generator>,
        find: impl Fn(&MaskSpec<'_>, &str) -> Result<Arc<W::Cipher>, Error>,
    ) -> Result<IdType<W>, Error> {
        let kind = kind(&self.kind, &self.base)?;
        let mask = |wanted: bool, of: MaskSpec<'_>| wanted.then(|| find(&of, "mask")).transpose();
        let accepts = self.accepts.iter().map(|spelling| {
            let format = padded(format("accepts", &spelling.format)?, spelling.pad)?;
            let of = MaskSpec::of(spelling.key.as_ref(), spelling.cipher.as_ref(), spelling.mask_tweak.as_ref());
            Ok(SpellingSpec { prefix: spelling.prefix.clone(), format, mask: mask(spelling.mask, of)? })
        });
        let of = MaskSpec::of(None, self.cipher.as_ref(), None);
        let encryption = matches!(kind, Kind::Encrypted { .. }).then(|| find(&of, "kind 'encrypted'")).transpose()?;
        let of_generator = generator.map_or(Layout::DEFAULT, Generator::layout);
        let spec = Spec {
            kind,
            format: padded(format("format", &self.format)?, self.pad)?,
            db_format: format("dbFormat", &self.db_format)?,
            mask: mask(self.mask, MaskSpec::of(self.key.as_ref(), self.cipher.as_ref(), self.mask_tweak.as_ref()))?,
            encryption,
            accepts: accepts.collect::<Result<_, Error>>()?,
            persist_prefix: self.persist_prefix,
            layout: self.layout.as_ref().map_or_else(|| Ok(of_generator), LayoutOptions::convert)?,
            prefix: self.prefix.clone(),
        };
        Ok(IdType::of_width(width, spec)?.in_space(self.space.as_deref().unwrap_or_default()))
    }
}

/// Which cipher a spelling asks for.
struct MaskSpec<'a> {
    key: Option<&'a str>,
    cipher: Option<&'a str>,
    tweak: Option<&'a [u8]>,
}

impl<'a> MaskSpec<'a> {
    fn of(key: Option<&'a String>, cipher: Option<&'a String>, tweak: Option<&'a Uint8Array>) -> Self {
        Self { key: key.map(String::as_str), cipher: cipher.map(String::as_str), tweak: tweak.map(|tweak| &**tweak) }
    }

    fn algorithm(&self) -> Result<Option<Algorithm>, Error> {
        self.cipher.map(|name| algorithm("cipher", name)).transpose()
    }
}

/// The format that an option names.
pub(super) fn format(option: &'static str, name: &str) -> Result<Format, Error> {
    Format::parse(name).ok_or_else(|| unknown(option, name))
}

/// The same without its padding, where `pad` says so.
fn padded(format: Format, pad: Option<bool>) -> Result<Format, Error> {
    if pad.unwrap_or(true) {
        return Ok(format);
    }
    let name = format.as_str();
    format.unpadded().ok_or_else(|| Error::config("pad", format!("pad: format '{name}' has no padding to go without")))
}

pub(super) fn kind(kind: &str, base: &str) -> Result<Kind, Error> {
    let base = match base {
        "counter" => Base::Counter,
        "sortable" => Base::Sortable,
        other => return Err(unknown("base", other)),
    };
    match kind {
        "counter" => Ok(Kind::Counter),
        "sortable" => Ok(Kind::Sortable),
        "encrypted" => Ok(Kind::Encrypted { base }),
        other => Err(unknown("kind", other)),
    }
}
