import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { Difference, DifferenceRow } from '../api/types'
import { Command } from '../states/Command'
import { sentence } from '../states/words'
import { Sensitive } from './Requests'

export function Differences({ difference }: { difference: Difference }) {
  return (
    <>
      {!difference.known && (
        <p className="tabard-breaks">The difference is not known. {sentence(difference.why ?? '')}</p>
      )}
      {difference.known && difference.rows.length === 0 && <p>Both ask for the same.</p>}
      {difference.rows.length > 0 && <DifferenceTable rows={difference.rows} caption={`From ${difference.from} to ${difference.to}`} />}
      {difference.trustMustChange && <p>The trust policy of the role must change, too.</p>}
      <Command command={difference.command} label="The command that compares the same" />
    </>
  )
}

export function DifferenceTable({ rows, caption }: { rows: DifferenceRow[]; caption: string }) {
  return (
    <Table variant="compact" gridBreakPoint="grid-lg" className="tabard-table">
      <Caption>{caption}</Caption>
      <Thead><Tr><Th width={30}>Change</Th><Th width={70}>What</Th></Tr></Thead>
      <Tbody>{rows.map((row, n) => <OneRow key={n} row={row} />)}</Tbody>
    </Table>
  )
}

const classes: Record<string, string> = {
  added: 'Added',
  removed: 'Removed',
  widened: 'Widened',
  narrowed: 'Narrowed',
  changed: 'Changed',
  subject: 'Who takes the role',
  secret: 'The Secret',
  tokenPath: 'The path of the token',
  support: 'Support of tokens',
  unknown: 'Not known',
}

function OneRow({ row }: { row: DifferenceRow }) {
  return (
    <Tr>
      <Th scope="row" dataLabel="Change" modifier="breakWord">
        {classes[row.class] ?? row.class} {row.sensitive && <Sensitive />}
        {row.marks.length > 0 && <div className="tabard-small">because of {row.marks.join(', ')}</div>}
      </Th>
      <Td dataLabel="What" modifier="breakWord">{sentence(row.text)}</Td>
    </Tr>
  )
}
