//! Parameters by name: those that are honoured, those that other clients leave in the same URL, and those that nobody
//! knows.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use crate::error::{Error, shown};

/// The names that one driver knows.
pub(in crate::coordinator) trait Names: Copy + Ord + 'static {
    /// Every spelling of those that are honoured, the one for messages first.
    const HONOURED: &[(&str, Self)];
    /// Names that do not matter here, in lines.
    const IGNORED: &[&str];
    /// What it would be wrong to ignore.
    const REFUSED: &[&str];
}

/// What a name stands for; `None` for one that is known and ignored.
pub(in crate::coordinator) fn find<K: Names>(name: &str) -> Result<Option<K>, Error> {
    if let Some((_, key)) = K::HONOURED.iter().find(|(known, _)| *known == name) {
        return Ok(Some(*key));
    }
    if ignored::<K>().any(|known| known == name) {
        return Ok(None);
    }
    if K::REFUSED.contains(&name) {
        return Err(Error::config("coordinator", format!("coordinator: the parameter {name} is not supported")));
    }
    let closest = known::<K>().map(|known| (distance(name, known), known)).min();
    let advice = match closest {
        Some((far, known)) if far <= 2 && far < name.len() => format!("; did you mean {known}?"),
        _ => String::new(),
    };
    Err(Error::config("coordinator", format!("coordinator: unknown parameter {}{advice}", shown(name))))
}

/// Every name that is not refused.
pub(in crate::coordinator) fn known<K: Names>() -> impl Iterator<Item = &'static str> {
    K::HONOURED.iter().map(|(name, _)| *name).chain(ignored::<K>())
}

fn ignored<K: Names>() -> impl Iterator<Item = &'static str> {
    K::IGNORED.iter().flat_map(|line| line.split(' '))
}

/// How many characters to add, drop or change, whatever their case.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.to_ascii_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, c) in one.to_ascii_lowercase().chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, d) in other.iter().enumerate() {
            let changed = diagonal + usize::from(c != *d);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

/// What was given, each at most once; what comes later counts.
pub(in crate::coordinator) struct Parameters<K>(BTreeMap<K, Zeroizing<String>>);

impl<K> Default for Parameters<K> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Names> Parameters<K> {
    /// Of an object: names and values as they are.
    pub(in crate::coordinator) fn of(given: &[(String, String)]) -> Result<Self, Error> {
        let mut parameters = Self::default();
        for (name, value) in given {
            if let Some(key) = find(name)? {
                parameters.set(key, Zeroizing::new(value.clone()));
            }
        }
        Ok(parameters)
    }

    pub(in crate::coordinator) fn set(&mut self, key: K, value: Zeroizing<String>) {
        self.0.insert(key, value);
    }

    /// Unless it is there.
    pub(in crate::coordinator) fn set_default(&mut self, key: K, value: Zeroizing<String>) {
        self.0.entry(key).or_insert(value);
    }

    /// What was given, unless it is empty: an empty value is none, as in libpq.
    pub(in crate::coordinator) fn get(&self, key: K) -> Option<&str> {
        self.0.get(&key).map(|value| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Whether it was given, also as nothing.
    #[cfg(feature = "redis")]
    pub(in crate::coordinator) fn has(&self, key: K) -> bool {
        self.0.contains_key(&key)
    }

    /// One of several words.
    pub(in crate::coordinator) fn word<T: Copy>(&self, key: K, words: &[(&str, T)]) -> Result<Option<T>, Error> {
        self.word_by(key, words, |word, found| word == found)
    }

    /// The same in capitals or not.
    #[cfg(feature = "mysql")]
    pub(in crate::coordinator) fn any_case<T: Copy>(&self, key: K, words: &[(&str, T)]) -> Result<Option<T>, Error> {
        self.word_by(key, words, str::eq_ignore_ascii_case)
    }

    fn word_by<T: Copy>(
        &self,
        key: K,
        words: &[(&str, T)],
        is: impl Fn(&str, &str) -> bool,
    ) -> Result<Option<T>, Error> {
        let Some(found) = self.get(key) else { return Ok(None) };
        let meaning = words.iter().find(|(word, _)| is(word, found)).map(|(_, meaning)| *meaning);
        meaning.map(Some).ok_or_else(|| {
            let expected: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            wrong(key, &format!("one of {}", expected.join(", ")), found)
        })
    }

    /// A whole number. Less than nothing is nothing, as in libpq.
    pub(in crate::coordinator) fn number(&self, key: K) -> Result<Option<u32>, Error> {
        let Some(found) = self.get(key) else { return Ok(None) };
        let number: i64 = found.trim().parse().map_err(|_| wrong(key, "a whole number", found))?;
        u32::try_from(number.max(0)).map(Some).map_err(|_| wrong(key, "a number below 4294967296", found))
    }
}

/// The first spelling of a parameter.
pub(in crate::coordinator) fn name<K: Names>(key: K) -> &'static str {
    K::HONOURED.iter().find(|(_, known)| *known == key).map_or("?", |(name, _)| name)
}

/// About the value of one parameter. What could be a piece of a password is not shown.
pub(in crate::coordinator) fn wrong<K: Names>(key: K, expected: &str, found: &str) -> Error {
    let found = if found.contains(['@', ':', '/']) { "something else".to_owned() } else { shown(found) };
    Error::config("coordinator", format!("coordinator: {}: expected {expected}, found {found}", name(key)))
}
