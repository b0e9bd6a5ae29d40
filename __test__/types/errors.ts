import {
  AcquireTimeoutError,
  type AddonError,
  ClosedError,
  ConfigError,
  ConflictError,
  CoordinatorError,
  ExhaustedError,
  InvalidIdError,
  LeaseLostError,
  type MintidError,
  NoKeyError,
  NotReadyError,
  RegistryError,
  TimeError
} from 'mintid'
import { type Equal, expectType } from './expect.js'

declare const error: unknown

if (error instanceof ConfigError) expectType<Equal<typeof error.option, string>>()
if (error instanceof LeaseLostError) {
  expectType<Equal<typeof error.machineId, number>>()
  expectType<Equal<typeof error.statusCode, 503>>()
}
if (error instanceof InvalidIdError) expectType<Equal<typeof error.statusCode, 400>>()
if (error instanceof InvalidIdError && error.reason === 'not canonical') error.expected.length
if (error instanceof AcquireTimeoutError) expectType<Equal<typeof error.attempts, number>>()
if (error instanceof ExhaustedError) expectType<Equal<typeof error.capacity, number>>()
if (error instanceof ConflictError) {
  expectType<Equal<[typeof error.machineId, typeof error.statusCode], [number, 503]>>()
}
if (error instanceof CoordinatorError) expectType<Equal<typeof error.hint, string | undefined>>()
if (error instanceof CoordinatorError) expectType<Equal<typeof error.serverCode, string | undefined>>()
if (error instanceof RegistryError) {
  expectType<Equal<typeof error.code, 'ERR_MINTID_REGISTRY_RESET' | 'ERR_MINTID_REGISTRY_VERSION'>>()
  expectType<Equal<[typeof error.notBefore, typeof error.command], [Date | undefined, string | undefined]>>()
}
if (error instanceof NoKeyError) expectType<Equal<typeof error.bits, number>>()

// Codes are literal, on classes and on instances.
expectType<Equal<typeof AddonError.code, 'ERR_MINTID_ADDON'>>()
const codes: MintidError['code'][] = [NotReadyError.code, TimeError.code, new ClosedError('closed').code]
expectType<Equal<(typeof RegistryError.codes)[number], 'ERR_MINTID_REGISTRY_RESET' | 'ERR_MINTID_REGISTRY_VERSION'>>()
new RegistryError('newer', { code: 'ERR_MINTID_REGISTRY_VERSION' })
// @ts-expect-error a code of another class
new RegistryError('newer', { code: 'ERR_MINTID_CONFIG' })
// @ts-expect-error no such reason
const reason: InvalidIdError['reason'] = 'ugly'
// @ts-expect-error fields are read-only
new ConfigError('key: expected …', { option: 'key' }).option = 'keys'
