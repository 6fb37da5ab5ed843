import { Link } from 'react-router-dom'
import { EmptyState, EmptyStateBody, PageSection } from '@patternfly/react-core'
import { PageTitle } from './PageTitle'

export function NotFound() {
  return (
    <PageSection>
      <PageTitle title="There is no such page" />
      <EmptyState>
        <EmptyStateBody>The address may be of another version. Start from the <Link to="/operators">operators</Link>.</EmptyStateBody>
      </EmptyState>
    </PageSection>
  )
}
