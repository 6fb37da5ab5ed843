import type { ReactNode } from 'react'
import { Toolbar, ToolbarContent, ToolbarFilter, ToolbarGroup, ToolbarItem, ToolbarToggleGroup } from '@patternfly/react-core'
import FilterIcon from '@patternfly/react-icons/dist/esm/icons/filter-icon'
import type { Facet } from '../api/types'
import { FilterMenu } from './FilterMenu'
import type { Query } from './query'
import { count } from '../states/words'

interface Props { query: Query; facets: Facet[]; search: ReactNode; sort: ReactNode; view?: ReactNode; pages?: ReactNode }

// Filters is the toolbar of a list, with a chip for each value that is chosen.
export function Filters({ query, facets, search, sort, view, pages }: Props) {
  return (
    <Toolbar clearAllFilters={query.clear} clearFiltersButtonText="Clear all filters" numberOfFiltersText={(n) => `${count(n, 'filter', 'filters')} chosen`}>
      <ToolbarContent>
        <ToolbarFilter
          categoryName="Search"
          labels={query.get('search') ? [query.get('search')] : []}
          deleteLabel={() => query.set('search', '')}
        >
          {search}
        </ToolbarFilter>
        <ToolbarItem>{sort}</ToolbarItem>
        {view && <ToolbarItem>{view}</ToolbarItem>}
        {pages && <ToolbarItem variant="pagination" visibility={{ default: 'hidden', xl: 'visible' }}>{pages}</ToolbarItem>}
        <ToolbarToggleGroup toggleIcon={<FilterIcon />} breakpoint="xl" className="tabard-wraps">
          <ToolbarGroup variant="filter-group" className="tabard-wraps">
            {query.list.filters.map((name) => (
              <OneFilter key={name} name={name} facet={facets.find((other) => other.name === name)} query={query} />
            ))}
          </ToolbarGroup>
        </ToolbarToggleGroup>
      </ToolbarContent>
    </Toolbar>
  )
}

function OneFilter({ name, facet, query }: { name: string; facet?: Facet; query: Query }) {
  const chosen = query.values(name)
  const values = facet?.values ?? []
  if (values.length === 0 && chosen.length === 0) return null
  // A value of the address may be none of the facet's, and the facet may not be known; it is shown, so that it can be dropped.
  const labels = chosen.map((value) => ({ key: value, node: values.find((other) => other.value === value)?.label ?? value }))
  return (
    <ToolbarFilter
      categoryName={{ key: name, name: facet?.label ?? name.charAt(0).toUpperCase() + name.slice(1) }}
      labels={labels}
      deleteLabel={(_category, label) => query.toggle(name, typeof label === 'string' ? label : label.key)}
      deleteLabelGroup={() => query.set(name, '')}
    >
      {facet && values.length > 0 && (
        <FilterMenu facet={facet} chosen={chosen} many={query.list.many?.includes(name) ?? false} onToggle={(value) => query.toggle(name, value)} />
      )}
    </ToolbarFilter>
  )
}
