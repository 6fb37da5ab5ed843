import type { ThProps } from '@patternfly/react-table'
import type { Query } from './query'

// Column is one of a table. Those with a sort have a button for it.
export interface Column { name: string; width: 10 | 15 | 20 | 25 | 30 | 40; sort?: string }

// sorting is what the head of a column needs, so that the server sorts by it; undefined where it does not.
export function sorting(columns: readonly Column[], columnIndex: number, query: Query, usual: string): ThProps['sort'] {
  const sort = columns[columnIndex]?.sort
  if (!sort) return undefined
  const order = query.get('sort') || usual
  return {
    columnIndex,
    sortBy: { index: columns.findIndex((column) => column.sort === order.replace(/^-/, '')), direction: order.startsWith('-') ? 'desc' : 'asc' },
    onSort: (_event, _index, direction) => {
      const next = direction === 'desc' ? `-${sort}` : sort
      query.set('sort', next === usual ? '' : next)
    },
  }
}
