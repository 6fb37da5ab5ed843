import { Link } from 'react-router-dom'
import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from '@patternfly/react-core'
import CheckCircleIcon from '@patternfly/react-icons/dist/esm/icons/check-circle-icon'
import CubesIcon from '@patternfly/react-icons/dist/esm/icons/cubes-icon'
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

export function NothingNeedsYou({ showAll }: { showAll: () => void }) {
  return (
    <EmptyState icon={CheckCircleIcon} titleText="Nothing needs you" headingLevel="h2">
      <EmptyStateBody>No install waits for you or has failed.</EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions><Button variant="primary" onClick={showAll}>Show all</Button></EmptyStateActions>
      </EmptyStateFooter>
    </EmptyState>
  )
}

export function NoCluster() {
  return (
    <EmptyState icon={CubesIcon} titleText="There is no cluster" headingLevel="h2">
      <EmptyStateBody>The console shows a catalogue of files. Start it with a cluster to see what is installed there.</EmptyStateBody>
      <EmptyStateFooter><Command label="Type" command="tabard console" /></EmptyStateFooter>
    </EmptyState>
  )
}
