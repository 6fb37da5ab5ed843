import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from '@patternfly/react-core'
import SearchIcon from '@patternfly/react-icons/dist/esm/icons/search-icon'
import type { Operators } from '../api/types'
import { useSession } from '../shell/session'
import { Command } from '../states/Command'
import { filters, type Parameter, type Query } from './query'

interface Props { data: Operators; query: Query }

// NoMatch says which filter to drop. Where there is nothing to match, it says how to get something.
export function NoMatch({ data, query }: Props) {
  if (data.total === 0) return <NoCatalogue />
  const set = (['search', ...filters] as Parameter[]).filter((name) => query.get(name) !== '')
  return (
    <EmptyState icon={SearchIcon} titleText="No operator matches" headingLevel="h2">
      <EmptyStateBody>
        {set.length === 0 ? 'This page of the list is empty.' : 'Drop one of the filters, or all of them:'}
      </EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions>
          {set.map((name) => (
            <Button key={name} variant="link" onClick={() => query.set(name, '')}>Drop {labelOf(name, data)}</Button>
          ))}
        </EmptyStateActions>
        <EmptyStateActions>
          {set.length === 0
            ? <Button variant="primary" onClick={() => query.set('page', '')}>First page</Button>
            : <Button variant="primary" onClick={query.clear}>Clear all filters</Button>}
        </EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  )
}

function labelOf(name: Parameter, data: Operators) {
  if (name === 'search') return 'the search'
  return data.facets.find((facet) => facet.name === name)?.label ?? name
}

function NoCatalogue() {
  const session = useSession()
  return (
    <EmptyState icon={SearchIcon} titleText="There is no operator to show" headingLevel="h2">
      <EmptyStateBody>
        {session?.hasCluster
          ? 'This cluster serves no catalogue of operators. It needs the Operator Lifecycle Manager and a CatalogSource. You can also open a catalogue of files, without a cluster.'
          : 'The catalogue that was opened has no package. Open another one.'}
      </EmptyStateBody>
      <EmptyStateFooter>
        {session?.hasCluster && <Command label="See what the cluster has" command="kubectl get catalogsources -A" />}
        <Command label="Open a catalogue of files" command="tabard console --catalogue PATH" />
      </EmptyStateFooter>
    </EmptyState>
  )
}
