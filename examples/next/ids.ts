import { type IdOf, idType } from 'mintid'

export const userId = idType('usr_', { mask: true })
export type UserId = IdOf<typeof userId>
