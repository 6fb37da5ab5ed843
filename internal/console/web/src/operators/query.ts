import type { ListOf, Query } from '../lists/query'

// A package can have several features; of the rest it has one.
export const operatorsList: ListOf = {
  path: 'operators',
  filters: ['cloud', 'tokens', 'permissions', 'provider', 'source', 'category', 'feature', 'installed'],
  many: ['feature'],
  others: ['all'],
}

// hasCards says that the list is shown as cards. The address has it; the server is not asked for it.
export function hasCards(query: Query): boolean {
  return query.get('view') === 'cards'
}
