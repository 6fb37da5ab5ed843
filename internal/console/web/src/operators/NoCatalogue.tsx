import { EmptyState, EmptyStateBody, EmptyStateFooter } from '@patternfly/react-core'
import SearchIcon from '@patternfly/react-icons/dist/esm/icons/search-icon'
import { useSession } from '../shell/session'
import { Command } from '../states/Command'

// NoCatalogue says how to get something where there is nothing to match.
export function NoCatalogue() {
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
