import { Link } from 'react-router-dom'
import { EmptyState, EmptyStateBody, EmptyStateFooter } from '@patternfly/react-core'
import CubesIcon from '@patternfly/react-icons/dist/esm/icons/cubes-icon'
import LockIcon from '@patternfly/react-icons/dist/esm/icons/lock-icon'
import { Command } from '../states/Command'
import { kindNames, type Kind } from './words'

export function NoCluster({ toSee = 'which pods have their roles' }: { toSee?: string }) {
  return (
    <EmptyState icon={CubesIcon} titleText="There is no cluster" headingLevel="h2">
      <EmptyStateBody>
        The console shows a catalogue of files. Start it with a cluster to see {toSee}. Errors and policies can be looked at
        without one: <Link to="/try">Try</Link>.
      </EmptyStateBody>
      <EmptyStateFooter><Command label="Type" command="tabard console" /></EmptyStateFooter>
    </EmptyState>
  )
}

// NothingRead has the place of a list of which nothing could be read. Why not stands above it.
export function NothingRead({ kind }: { kind: Kind }) {
  return (
    <EmptyState icon={LockIcon} titleText={`No ${kindNames[kind]} could be read`} headingLevel="h2">
      <EmptyStateBody>
        The list has the namespaces that you may read. An administrator of the cluster can give you the right to list pods and
        ServiceAccounts.
      </EmptyStateBody>
      <EmptyStateFooter><Command label="See what you may do" command="kubectl auth can-i --list" /></EmptyStateFooter>
    </EmptyState>
  )
}

export function NothingThere({ kind }: { kind: Kind }) {
  return (
    <EmptyState icon={CubesIcon} titleText={`There are no ${kindNames[kind]}`} headingLevel="h2">
      <EmptyStateBody>
        A pod gets a role by its ServiceAccount. Annotate the ServiceAccount with the ARN of the role, and start a pod that runs as it.
      </EmptyStateBody>
      <EmptyStateFooter>
        <Command label="Type" command="kubectl annotate serviceaccount NAME eks.amazonaws.com/role-arn=ROLE_ARN" />
      </EmptyStateFooter>
    </EmptyState>
  )
}

// ToWorkloads leads away from what is not there any more.
export function ToWorkloads() {
  return <Link to="/workloads">All workloads</Link>
}
