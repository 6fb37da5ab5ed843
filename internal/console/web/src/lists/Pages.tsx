import { Pagination } from '@patternfly/react-core'
import type { Query } from './query'

interface Props { data: { matching: number; page: number; limit: number }; query: Query; variant: 'top' | 'bottom' }

export function Pages({ data, query, variant }: Props) {
  return (
    <Pagination
      itemCount={data.matching}
      page={data.page}
      perPage={data.limit}
      perPageOptions={[20, 50, 100].map((value) => ({ title: String(value), value }))}
      onSetPage={(_event, page) => query.set('page', page === 1 ? '' : String(page))}
      onPerPageSelect={(_event, limit) => query.set('limit', limit === 20 ? '' : String(limit))}
      widgetId={`pages-${variant}`}
      variant={variant}
      isStatic
      isCompact
      titles={{ paginationAriaLabel: `Pages, at the ${variant}` }}
    />
  )
}
