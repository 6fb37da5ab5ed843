import { EmptyState, EmptyStateBody, EmptyStateFooter, PageSection } from '@patternfly/react-core'
import LockIcon from '@patternfly/react-icons/dist/esm/icons/lock-icon'
import type { Problem } from '../api/types'
import { PageTitle } from '../shell/PageTitle'
import { Command } from './Command'
import { ProblemState } from './ProblemState'

// Ended is the page without a session. It has no button: a session starts where the person types.
export function Ended({ problem }: { problem: Problem }) {
  if (problem.status !== 401) {
    return (
      <PageSection>
        <PageTitle title="The session did not start" />
        <ProblemState problem={problem} retry={() => window.location.reload()} />
      </PageSection>
    )
  }
  return (
    <PageSection>
      <PageTitle title="Your session has ended" />
      <EmptyState icon={LockIcon} titleText="Start the console again" headingLevel="h2">
        <EmptyStateBody>
          <p>Your session has ended: type <code>tabard console</code> again.</p>
          <p className="tabard-breaks">{problem.detail || problem.title}</p>
        </EmptyStateBody>
        <EmptyStateFooter><Command label="Type" command="tabard console" /></EmptyStateFooter>
      </EmptyState>
    </PageSection>
  )
}
