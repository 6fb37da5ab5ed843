import { useEffect, useRef } from 'react'
import { Alert, Label, Skeleton } from '@patternfly/react-core'
import CheckCircleIcon from '@patternfly/react-icons/dist/esm/icons/check-circle-icon'
import QuestionCircleIcon from '@patternfly/react-icons/dist/esm/icons/question-circle-icon'
import TimesCircleIcon from '@patternfly/react-icons/dist/esm/icons/times-circle-icon'
import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { Cluster, Fact } from '../api/types'
import { useRead } from '../api/useRead'
import { useSession } from '../shell/session'
import { Command } from '../states/Command'
import { ProblemState } from '../states/ProblemState'
import { sentence } from '../states/words'

// TokenMode says whether the cluster gives operators short-lived tokens, and by which facts. If they could not
// be read, they are read again with the list, which was read at some time.
export function TokenMode({ listReadAt }: { listReadAt?: string }) {
  const session = useSession()
  const { data, problem, retry } = useRead<Cluster>(session?.hasCluster ? 'cluster' : '')
  const failed = useRef(false)
  failed.current = problem !== undefined
  useEffect(() => {
    if (listReadAt && failed.current) retry()
  }, [listReadAt, retry])
  if (session && !session.hasCluster) return <NoCluster />
  if (data) return <Mode cluster={data} />
  if (!problem) return <Skeleton height="3.5rem" screenreaderText="Waiting for the facts of the cluster" />
  return (
    <Alert variant="warning" isInline isExpandable component="h2" title={`Token mode is not known: ${problem.title}`} toggleAriaLabel="Why">
      <ProblemState problem={problem} retry={retry} level="h3" />
    </Alert>
  )
}

// NoCluster says why the page has nothing of a cluster: files do not know who takes tokens.
function NoCluster() {
  return (
    <Alert variant="info" isInline component="h2" title="There is no cluster">
      <p>The console shows a catalogue of files. Start it with a cluster to see its token mode, and to install.</p>
    </Alert>
  )
}

function Mode({ cluster }: { cluster: Cluster }) {
  return (
    <Alert
      variant={cluster.tokenMode === 'yes' ? 'info' : 'warning'}
      isInline
      isExpandable
      component="h2"
      title={<span className="tabard-breaks">{sentence(cluster.sentence)}</span>}
      toggleAriaLabel="Facts of token mode"
    >
      {cluster.reason && <p className="tabard-breaks">{sentence(cluster.reason)}</p>}
      <Facts facts={cluster.facts} />
      {cluster.missingRights?.map((right) => <p key={right} className="tabard-breaks">You lack a right: {right}.</p>)}
      <p className="tabard-breaks">{sentence(cluster.follows)}</p>
      <Command command={cluster.command} />
    </Alert>
  )
}

function Facts({ facts }: { facts: Fact[] }) {
  return (
    <Table variant="compact" gridBreakPoint="grid-lg" className="tabard-table">
      <Caption>The facts that token mode depends on</Caption>
      <Thead><Tr><Th>Fact</Th><Th>Where</Th><Th>Seen</Th><Th>Holds</Th><Th>Why</Th></Tr></Thead>
      <Tbody>
        {facts.map((fact) => (
          <Tr key={fact.name}>
            <Th scope="row" dataLabel="Fact">{fact.name}</Th>
            <Td dataLabel="Where" modifier="breakWord">{fact.object}, <code>{fact.field}</code></Td>
            <Td dataLabel="Seen" modifier="breakWord">{fact.value || 'nothing'}</Td>
            <Td dataLabel="Holds"><Holds holds={fact.holds} /></Td>
            <Td dataLabel="Why" modifier="breakWord">{fact.why}</Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  )
}

function Holds({ holds }: { holds: string }) {
  if (holds === 'yes') return <Label color="green" icon={<CheckCircleIcon />}>yes</Label>
  if (holds === 'no') return <Label color="red" icon={<TimesCircleIcon />}>no</Label>
  return <Label color="orange" icon={<QuestionCircleIcon />}>not known</Label>
}
