import { idType } from 'mintid'

export const userId = idType('usr_', { mask: true })
