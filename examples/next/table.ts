// Stands for: create table users (id bigint primary key, name text)
export const table = new Map<bigint, string>()
