import type { ReactNode } from 'react'
import { Alert } from '@patternfly/react-core'
import { isOver, useEnded } from '../api/ended'
import type { Problem } from '../api/types'
import { NoRights } from './NoRights'
import { NextStep } from './ProblemState'
import { sentence } from './words'

interface Props { problem: Problem; actions?: ReactNode; level?: 'h2' | 'h3' }

// ProblemAlert says why something was not done. What the person has filled in stays around it.
export function ProblemAlert({ problem, actions, level = 'h2' }: Props) {
  const isOpenAgain = !useEnded().problem && isOver(problem)
  if (isOpenAgain) {
    return (
      <Alert variant="info" isInline isLiveRegion component={level} title="This was not done" actionLinks={actions}>
        <p>The session had ended. It is open again: do it once more.</p>
      </Alert>
    )
  }
  return (
    <Alert
      variant={problem.status === 409 ? 'warning' : 'danger'}
      isInline
      isLiveRegion
      component={level}
      title={<span className="tabard-breaks">{problem.title}</span>}
      actionLinks={actions}
    >
      <p className="tabard-breaks">{sentence(problem.detail)}</p>
      {problem.missingRight && <NoRights missing={problem.missingRight} />}
      {problem.next?.map((step) => <NextStep key={step} step={step} />)}
      {problem.instance !== '' && <p className="tabard-small">Request {problem.instance}</p>}
    </Alert>
  )
}
