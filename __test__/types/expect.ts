/** Exactly the same type, not only assignable. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only when the type argument is `true`. */
export function expectType<_Holds extends true>(): void {}
