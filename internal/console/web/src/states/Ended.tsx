import { EmptyState, EmptyStateBody, EmptyStateFooter, PageSection } from '@patternfly/react-core'
import LockIcon from '@patternfly/react-icons/dist/esm/icons/lock-icon'
import { isOver } from '../api/client'
import type { Problem } from '../api/types'
import { PageTitle } from '../shell/PageTitle'
import { Command } from './Command'
import { NextStep, ProblemState } from './ProblemState'

// Ended is the page without a session. It has no button: a session starts where the person types.
export function Ended({ problem }: { problem: Problem }) {
  if (!isOver(problem)) {
    return (
      <PageSection>
        <PageTitle title="The session did not start" />
        <ProblemState problem={problem} retry={() => window.location.reload()} />
      </PageSection>
    )
  }
  // An address that was used before began no session of this browser.
  const isSpent = problem.code === 'code'
  return (
    <PageSection>
      <PageTitle title={isSpent ? problem.title : 'Your session has ended'} />
      <EmptyState icon={LockIcon} titleText={isSpent ? 'Open another address' : 'Start the console again'} headingLevel="h2">
        <EmptyStateBody>
          {!isSpent && <p>Your session has ended: type <code>tabard console</code> again.</p>}
          <p className="tabard-breaks">{problem.code === 'token' ? lost : problem.detail || problem.title}</p>
          {problem.next?.map((step) => <NextStep key={step} step={step} />)}
        </EmptyStateBody>
        <EmptyStateFooter><Command label="Type" command="tabard console" /></EmptyStateFooter>
      </EmptyState>
    </PageSection>
  )
}

const lost = 'This browser no longer has its part of the session. If the console still runs, press Enter in its terminal for another address.'
