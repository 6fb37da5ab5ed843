import type { Facet, Operators } from '../api/types'
import { Filters } from '../lists/Filters'
import { Pages } from '../lists/Pages'
import type { Query } from '../lists/query'
import { Search } from '../lists/Search'
import { Sort } from '../lists/Sort'
import { ViewToggle } from './ViewToggle'
import { cloudName } from './words'

const orders: Record<string, string> = {
  name: 'Name, A to Z',
  '-name': 'Name, Z to A',
  provider: 'Provider, A to Z',
  '-provider': 'Provider, Z to A',
  version: 'Version, oldest first',
  '-version': 'Version, newest first',
  permissions: 'Permissions, fewest first',
  '-permissions': 'Permissions, most first',
}

interface Props { last?: Operators; data?: Operators; query: Query }

// OperatorsFilters has the filters of the list that was read last. While there is no list, it has no pages.
export function OperatorsFilters({ last, data, query }: Props) {
  return (
    <Filters
      query={query}
      facets={last?.facets.map((facet) => (facet.name === 'cloud' ? ownFirst(facet, last.cloud) : facet)) ?? []}
      search={<Search query={query} label="Search operators" placeholder="Name, package, provider" />}
      sort={<Sort query={query} orders={orders} usual="name" />}
      view={<ViewToggle query={query} />}
      pages={data && data.matching > 0 && <Pages data={data} query={query} variant="top" />}
    />
  )
}

// ownFirst puts the cluster's cloud first.
function ownFirst(facet: Facet, own?: string): Facet {
  const values = facet.values.map((value) => ({
    ...value,
    label: value.value === own ? `${cloudName(value.value)} (this cluster)` : cloudName(value.value),
  }))
  return { ...facet, values: values.sort((a, b) => Number(b.value === own) - Number(a.value === own)) }
}
