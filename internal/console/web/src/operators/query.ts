import type { ListOf } from '../lists/query'

// A package can have several features; of the rest it has one.
export const operatorsList: ListOf = {
  path: 'operators',
  filters: ['cloud', 'tokens', 'permissions', 'provider', 'source', 'category', 'feature', 'installed'],
  many: ['feature'],
  others: ['all'],
}
