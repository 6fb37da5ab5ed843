import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, PageSection } from '@patternfly/react-core'
import LockIcon from '@patternfly/react-icons/dist/esm/icons/lock-icon'
import { isOver } from '../api/client'
import type { Problem } from '../api/types'
import { PageTitle } from '../shell/PageTitle'
import { NextStep, ProblemState } from './ProblemState'
import { sentence } from './words'

// What the server says, too.
const usual = ['press Enter where tabard console runs, or type it again: tabard console']

interface Props { problem: Problem; onOpened: () => void }

// Ended is the page without a session. A session starts where the person types. It may start in another
// tab: this one has the same cookie then, and still knows what was filled in.
export function Ended({ problem, onOpened }: Props) {
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
      <EmptyState icon={LockIcon} titleText={isSpent ? 'Open another address' : 'Open the console again'} headingLevel="h2">
        <EmptyStateBody>
          <p className="tabard-breaks">{problem.code === 'token' ? lost : sentence(problem.detail || problem.title)}</p>
          <p>When you have opened it in another tab, you can go on in this one.</p>
        </EmptyStateBody>
        <EmptyStateFooter>
          {(problem.next ?? usual).map((step) => <NextStep key={step} step={step} />)}
          <EmptyStateActions><Button variant="primary" onClick={onOpened}>I have opened it again</Button></EmptyStateActions>
        </EmptyStateFooter>
      </EmptyState>
    </PageSection>
  )
}

const lost = 'This browser no longer has its part of the session. If the console still runs, press Enter in its terminal for another address.'
