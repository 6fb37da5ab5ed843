import type { ReactNode } from 'react'
import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from '@patternfly/react-core'
import type { Problem } from '../api/types'
import { Command } from './Command'
import { NoRights } from './NoRights'
import { isCommand, sentence } from './words'

interface Props { problem: Problem; retry: () => void; level?: 'h2' | 'h3'; link?: ReactNode }

// ProblemState has the place of what could not be read.
export function ProblemState({ problem, retry, level = 'h2', link }: Props) {
  return (
    <EmptyState status={problem.missingRight ? 'warning' : 'danger'} titleText={problem.title} headingLevel={level}>
      <EmptyStateBody>
        <div role="alert" className="tabard-breaks">{sentence(problem.detail)}</div>
        {problem.missingRight && <NoRights missing={problem.missingRight} />}
      </EmptyStateBody>
      <EmptyStateFooter>
        {problem.next?.map((step) => <NextStep key={step} step={step} />)}
        <EmptyStateActions><Button variant="primary" onClick={retry}>Retry</Button>{link}</EmptyStateActions>
        {problem.instance !== '' && <p className="tabard-small">Request {problem.instance}</p>}
      </EmptyStateFooter>
    </EmptyState>
  )
}

// NextStep is what to type, or else what to do.
export function NextStep({ step }: { step: string }) {
  if (isCommand(step)) return <Command label="Type" command={step} />
  return <p className="tabard-breaks">{step[0]?.toUpperCase()}{step.slice(1)}.</p>
}
