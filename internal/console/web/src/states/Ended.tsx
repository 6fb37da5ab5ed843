import { useEffect, useRef } from 'react'
import { Alert, AlertActionLink, Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter, PageSection } from '@patternfly/react-core'
import LockIcon from '@patternfly/react-icons/dist/esm/icons/lock-icon'
import { regain } from '../api/ended'
import type { Problem } from '../api/types'
import { announce } from '../shell/announce'
import { PageTitle } from '../shell/PageTitle'
import { NextStep, ProblemState } from './ProblemState'
import { sentence } from './words'

// What the server says, too.
const usual = ['press Enter where tabard console runs, or type it again: tabard console']
const title = 'Your session has ended'
const goOn = 'When you have opened it in another tab, you can go on in this one.'
const lost = 'This browser no longer has its part of the session. If the console still runs, press Enter in its terminal for another address.'

interface Props { problem: Problem }

// NotStarted is the page where the session could not be asked for.
export function NotStarted({ problem }: Props) {
  return (
    <PageSection>
      <PageTitle title="The session did not start" />
      <ProblemState problem={problem} retry={() => window.location.reload()} />
    </PageSection>
  )
}

// Ended is the page without a session, where none was there before. A session starts where the person types.
export function Ended({ problem }: Props) {
  // An address that was used before began no session of this browser.
  const isSpent = problem.code === 'code'
  return (
    <PageSection>
      <PageTitle title={isSpent ? problem.title : title} />
      <EmptyState icon={LockIcon} titleText={isSpent ? 'Open another address' : 'Open the console again'} headingLevel="h2">
        <EmptyStateBody>
          <p className="tabard-breaks">{whyOf(problem)}</p>
          <p>{goOn}</p>
        </EmptyStateBody>
        <EmptyStateFooter>
          {(problem.next ?? usual).map((step) => <NextStep key={step} step={step} />)}
          <EmptyStateActions><Button variant="primary" onClick={regain}>I have opened it again</Button></EmptyStateActions>
        </EmptyStateFooter>
      </EmptyState>
    </PageSection>
  )
}

// EndedAlert stands over a page whose session has ended, and takes the focus, but from nobody who types.
// The page stays: what was filled in can be read and copied, and sent when there is a session again. Then
// the focus goes back.
export function EndedAlert({ problem }: Props) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const before = document.activeElement
    if (isField(before)) announce(title)
    else place.current?.focus()
    return () => {
      announce('The session is open again')
      // What had the focus in the alert is gone. Who was elsewhere stays there.
      if (document.activeElement === document.body && before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <PageSection>
      <div ref={place} tabIndex={-1} role="group" aria-label={title}>
        <Alert
          variant="warning"
          isInline
          component="h2"
          title={title}
          actionLinks={<AlertActionLink onClick={regain}>I have opened it again</AlertActionLink>}
        >
          <p className="tabard-breaks">{whyOf(problem)}</p>
          {(problem.next ?? usual).map((step) => <NextStep key={step} step={step} />)}
          <p>{goOn} What you have filled in stays here, and nothing of it is sent until then.</p>
        </Alert>
      </div>
    </PageSection>
  )
}

function isField(element: Element | null): boolean {
  return element?.matches('input, textarea, select') ?? false
}

function whyOf({ code, title: short, detail }: Problem): string {
  return code === 'token' ? lost : sentence(detail || short)
}
