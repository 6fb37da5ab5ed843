import { Link } from 'react-router-dom'
import {
  Alert, AlertActionLink, DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, List, ListItem, Title,
} from '@patternfly/react-core'
import type { InstallDetail } from '../api/types'
import { Command } from '../states/Command'
import { RoleAndValues } from './RoleAndValues'
import { Stages } from './Stages'
import { StateLabel } from './StateLabel'
import { pathOf, stateOf } from './words'

export function InstallDetails({ install }: { install: InstallDetail }) {
  return (
    <>
      {install.waiting && <Waiting install={install} />}
      <InShort install={install} />
      <Title headingLevel="h2">Stages</Title>
      <Stages install={install} />
      <RoleAndValues install={install} />
      <Neighbours install={install} />
      <Command command={install.command} />
    </>
  )
}

function Waiting({ install }: { install: InstallDetail }) {
  return (
    <Alert
      variant="info"
      isInline
      component="h2"
      title={install.next ? <span className="tabard-breaks">An upgrade to {install.next} waits for you</span> : 'A plan waits for you'}
      actionLinks={(
        <AlertActionLink component={(props) => <Link {...props} to={`${pathOf(install)}/upgrade`} />}>Look at the plan</AlertActionLink>
      )}
    >
      <p className="tabard-breaks">The InstallPlan {install.waiting} is not approved. See what it changes before you approve it.</p>
    </Alert>
  )
}

function InShort({ install }: { install: InstallDetail }) {
  return (
    <DescriptionList isHorizontal isCompact horizontalTermWidthModifier={{ default: '9rem' }}>
      <DescriptionListGroup>
        <DescriptionListTerm>State</DescriptionListTerm>
        <DescriptionListDescription><StateLabel state={install.stage.state}>{stateOf(install)}</StateLabel></DescriptionListDescription>
      </DescriptionListGroup>
      <Row term="Version" value={install.csv ?? 'None yet'} />
      <Row term="Namespace" value={install.namespace} />
      <Row term="Channel" value={install.channel} />
      <Row term="Catalogue" value={install.source} />
      <Row term="Upgrades" value={approvals[install.approval.toLowerCase()] ?? install.approval} />
    </DescriptionList>
  )
}

const approvals: Record<string, string> = { manual: 'Wait for an approval', automatic: 'Go on by themselves' }

function Row({ term, value }: { term: string; value: string }) {
  return (
    <DescriptionListGroup>
      <DescriptionListTerm>{term}</DescriptionListTerm>
      <DescriptionListDescription className="tabard-breaks">{value}</DescriptionListDescription>
    </DescriptionListGroup>
  )
}

function Neighbours({ install: { neighbours } }: { install: InstallDetail }) {
  if (neighbours.length === 0) return null
  return (
    <>
      <Title headingLevel="h2">Neighbours</Title>
      <p>These are in the same namespace. Who approves a plan of one may upgrade all of them:</p>
      <List>{neighbours.map((name) => <ListItem key={name} className="tabard-breaks">{name}</ListItem>)}</List>
    </>
  )
}
