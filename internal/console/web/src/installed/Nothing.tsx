import { Link } from 'react-router-dom'
import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from '@patternfly/react-core'
import CheckCircleIcon from '@patternfly/react-icons/dist/esm/icons/check-circle-icon'
import CubesIcon from '@patternfly/react-icons/dist/esm/icons/cubes-icon'
import QuestionCircleIcon from '@patternfly/react-icons/dist/esm/icons/question-circle-icon'
import type { Problem } from '../api/types'
import { Command } from '../states/Command'

export function NothingInstalled() {
  return (
    <EmptyState icon={CubesIcon} titleText="No operator is installed" headingLevel="h2">
      <EmptyStateBody>
        Choose one of the <Link to="/operators">operators</Link>, see what it asks of the cloud, and press Install on its page. Then
        you can follow the install here.
      </EmptyStateBody>
      <EmptyStateFooter><Command label="Or type" command="tabard operators install PACKAGE" /></EmptyStateFooter>
    </EmptyState>
  )
}

// Of what could not be read, nobody knows whether it needs somebody.
export function NothingNeedsYou({ isAllKnown, showAll }: { isAllKnown: boolean; showAll: () => void }) {
  return (
    <EmptyState
      icon={isAllKnown ? CheckCircleIcon : QuestionCircleIcon}
      titleText={isAllKnown ? 'Nothing needs you' : 'Nothing that could be read needs you'}
      headingLevel="h2"
    >
      <EmptyStateBody>{isAllKnown ? 'No install waits for you or has failed.' : 'Not all installs could be read.'}</EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions><Button variant="primary" onClick={showAll}>Show all</Button></EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  )
}

// ToInstalled leads away from what is not there any more.
export function ToInstalled({ problem }: { problem: Problem }) {
  return problem.status === 404 ? <Link to="/installed">All that is installed</Link> : null
}
