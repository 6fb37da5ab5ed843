import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from '@patternfly/react-core'
import SearchIcon from '@patternfly/react-icons/dist/esm/icons/search-icon'
import type { Facet } from '../api/types'
import type { Query } from './query'

// NoMatch says which filter to drop.
export function NoMatch({ title, facets, matching, query }: { title: string; facets: Facet[]; matching: number; query: Query }) {
  if (matching > 0) return <EmptyPage query={query} />
  const set = ['search', ...query.list.filters].filter((name) => query.get(name) !== '')
  const labelOf = (name: string) => (name === 'search' ? 'the search' : facets.find((facet) => facet.name === name)?.label ?? name)
  return (
    <EmptyState icon={SearchIcon} titleText={title} headingLevel="h2">
      <EmptyStateBody>
        {set.length > 0 && 'Drop one of the filters, or all of them:'}
      </EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions>
          {set.map((name) => <Button key={name} variant="link" onClick={() => query.set(name, '')}>Drop {labelOf(name)}</Button>)}
        </EmptyStateActions>
        <EmptyStateActions>
          {set.length > 0 && <Button variant="primary" onClick={query.clear}>Clear all filters</Button>}
        </EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  )
}

// EmptyPage is a page behind the last one.
function EmptyPage({ query }: { query: Query }) {
  return (
    <EmptyState icon={SearchIcon} titleText="This page of the list is empty" headingLevel="h2">
      <EmptyStateFooter>
        <EmptyStateActions><Button variant="primary" onClick={() => query.set('page', '')}>First page</Button></EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  )
}
