import { Toolbar, ToolbarContent, ToolbarFilter, ToolbarGroup, ToolbarItem, ToolbarToggleGroup } from '@patternfly/react-core'
import FilterIcon from '@patternfly/react-icons/dist/esm/icons/filter-icon'
import type { Facet, Operators } from '../api/types'
import { FilterMenu } from './FilterMenu'
import { Pages } from './Pages'
import { filters, type Filter, type Query } from './query'
import { Search } from './Search'
import { Sort } from './Sort'
import { cloudName } from './words'

interface Props { data: Operators; query: Query }

export function Filters({ data, query }: Props) {
  return (
    <Toolbar clearAllFilters={query.clear} clearFiltersButtonText="Clear all filters">
      <ToolbarContent>
        <ToolbarFilter
          categoryName="Search"
          labels={query.get('search') ? [query.get('search')] : []}
          deleteLabel={() => query.set('search', '')}
        >
          <Search query={query} />
        </ToolbarFilter>
        <ToolbarItem><Sort query={query} /></ToolbarItem>
        {data.matching > 0 && (
          <ToolbarItem variant="pagination" visibility={{ default: 'hidden', xl: 'visible' }}>
            <Pages data={data} query={query} variant="top" />
          </ToolbarItem>
        )}
        <ToolbarToggleGroup toggleIcon={<FilterIcon />} breakpoint="xl" className="tabard-wraps">
          <ToolbarGroup variant="filter-group" className="tabard-wraps">
            {filters.map((name) => <OneFilter key={name} name={name} data={data} query={query} />)}
          </ToolbarGroup>
        </ToolbarToggleGroup>
      </ToolbarContent>
    </Toolbar>
  )
}

function OneFilter({ name, data, query }: Props & { name: Filter }) {
  const facet = facetOf(name, data)
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
        <FilterMenu facet={facet} chosen={chosen} many={name === 'feature'} onToggle={(value) => query.toggle(name, value)} />
      )}
    </ToolbarFilter>
  )
}

// facetOf puts the cluster's cloud first, and says of which cloud token login is.
function facetOf(name: Filter, data: Operators): Facet | undefined {
  const facet = data.facets.find((other) => other.name === name)
  if (name !== 'cloud' || !facet) return facet
  const values = facet.values.map((value) => ({
    ...value,
    label: value.value === data.cloud ? `${cloudName(value.value)} (this cluster)` : cloudName(value.value),
  }))
  return { ...facet, values: values.sort((a, b) => Number(b.value === data.cloud) - Number(a.value === data.cloud)) }
}
