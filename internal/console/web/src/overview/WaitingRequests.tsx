import { Stack, Title } from '@patternfly/react-core'
import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { Overview, WaitingRequest } from '../api/types'
import { Command } from '../states/Command'
import { rightOf } from '../states/right'
import { useNow } from '../states/useNow'
import { ageInWords, count, sentence, timeInWords } from '../states/words'
import { NotKnown } from './NotKnown'

export function WaitingRequests({ overview }: { overview: Overview }) {
  const { waiting, waitingTotal, requestsUnknown, requestsCommand } = overview
  const more = waitingTotal - waiting.length
  return (
    <Stack hasGutter component="section" aria-labelledby="waiting">
      <Title headingLevel="h2" id="waiting">Requests that wait</Title>
      {requestsUnknown ? <Unknown why={requestsUnknown} /> : <p>{requestsInWords(overview)}</p>}
      {waiting.length > 0 && <Waiting items={waiting} caption={more > 0 ? `The first ${waiting.length} that wait` : 'CredentialsRequests that wait'} />}
      {more > 0 && <p>And {more.toLocaleString('en')} more.</p>}
      {!requestsUnknown && <Command command={requestsCommand} />}
    </Stack>
  )
}

// A cluster without such a kind lacks nothing.
function Unknown({ why }: { why: string }) {
  return rightOf(why) ? <NotKnown title="Which requests wait is not known" why={why} /> : <p className="tabard-breaks">{sentence(why)}</p>
}

function requestsInWords({ requests, waitingTotal, partlyRequests }: Overview): string {
  const read = partlyRequests.length > 0 ? ' that could be read' : ''
  if (requests === 0) return read ? 'There is no CredentialsRequest in what could be read.' : 'There are no CredentialsRequests.'
  const all = `${count(requests, 'CredentialsRequest', 'CredentialsRequests')}${read}`
  return `Of ${all}, ${waitingTotal === 0 ? 'none waits' : `${waitingTotal.toLocaleString('en')} ${waitingTotal === 1 ? 'waits' : 'wait'}`}.`
}

function Waiting({ items, caption }: { items: WaitingRequest[]; caption: string }) {
  return (
    <Table variant="compact" gridBreakPoint="grid-lg" className="tabard-table">
      <Caption>{caption}</Caption>
      <Thead>
        <Tr><Th width={15}>Name</Th><Th width={15}>Namespace</Th><Th width={15}>Fulfilled by</Th><Th width={40}>Why it waits</Th><Th width={15}>Since</Th></Tr>
      </Thead>
      <Tbody>{items.map((row) => <OneRow key={`${row.namespace}/${row.name}`} row={row} />)}</Tbody>
    </Table>
  )
}

function OneRow({ row: { namespace, name, actor, reason, message, since, command } }: { row: WaitingRequest }) {
  const now = useNow()
  return (
    <Tr>
      <Th scope="row" dataLabel="Name" modifier="breakWord">{name}</Th>
      <Td dataLabel="Namespace" modifier="breakWord">{namespace}</Td>
      <Td dataLabel="Fulfilled by" modifier="breakWord">{actor}</Td>
      <Td dataLabel="Why it waits" modifier="breakWord">
        <div><b>{reason || 'No reason is given'}</b></div>
        {message && <div>{sentence(message)}</div>}
        <Command label="See all of it" command={command} />
      </Td>
      <Td dataLabel="Since" modifier="breakWord">
        For {ageInWords(now - Date.parse(since))}
        <div className="tabard-small"><time dateTime={since}>{timeInWords(since)}</time></div>
      </Td>
    </Tr>
  )
}
