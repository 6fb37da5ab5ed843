import { Link } from 'react-router-dom'
import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { InstallRow } from '../api/types'
import { sentence } from '../states/words'
import { StateLabel } from './StateLabel'
import { pathOf, stagesInWords, stateOf } from './words'

export function InstalledTable({ items }: { items: InstallRow[] }) {
  return (
    <Table variant="compact" gridBreakPoint="grid-lg" className="tabard-table">
      <Caption>Installs of the namespaces that you may read</Caption>
      <Thead>
        <Tr>
          <Th width={15}>Operator</Th><Th width={15}>Namespace</Th><Th width={15}>Version</Th><Th width={20}>State</Th>
          <Th width={15}>Upgrade to</Th><Th width={20}>Role</Th>
        </Tr>
      </Thead>
      <Tbody>{items.map((row) => <OneRow key={`${row.namespace}/${row.subscription}`} row={row} />)}</Tbody>
    </Table>
  )
}

function OneRow({ row }: { row: InstallRow }) {
  return (
    <Tr>
      <Th scope="row" dataLabel="Operator" modifier="breakWord">
        <Link to={pathOf(row)}>{row.package}</Link>
        {row.subscription !== row.package && <div className="tabard-small">Subscription {row.subscription}</div>}
      </Th>
      <Td dataLabel="Namespace" modifier="breakWord">{row.namespace}</Td>
      <Td dataLabel="Version" modifier="breakWord">{row.csv ?? 'None yet'}</Td>
      <Td dataLabel="State" modifier="breakWord"><State row={row} /></Td>
      <Td dataLabel="Upgrade to" modifier="breakWord">{row.next ? <Link to={`${pathOf(row)}/upgrade`}>{row.next}</Link> : 'None waits'}</Td>
      <Td dataLabel="Role" modifier="breakWord">{row.role ?? 'None'}</Td>
    </Tr>
  )
}

function State({ row }: { row: InstallRow }) {
  return (
    <>
      <StateLabel state={row.stage.state}>{stateOf(row)}</StateLabel>
      <div>{sentence(row.stage.sentence)}</div>
      {row.stage.state !== 'done' && <div className="tabard-small">{stagesInWords(row)}</div>}
    </>
  )
}
