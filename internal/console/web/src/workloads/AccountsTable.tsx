import { Link } from 'react-router-dom'
import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { AccountRow } from '../api/types'
import type { Query } from '../lists/query'
import { sorting, type Column } from '../lists/sorting'
import { RoleCell, StateCell, writtenBy } from './cells'
import { pathOf, podsInWords } from './words'

const columns: Column[] = [
  { name: 'Name', width: 15, sort: 'name' },
  { name: 'Namespace', width: 10, sort: 'namespace' },
  { name: 'Role', width: 25, sort: 'role' },
  { name: 'Written by', width: 15 },
  { name: 'Pods', width: 10 },
  { name: 'State', width: 25, sort: 'standing' },
]

export function AccountsTable({ items, query }: { items: AccountRow[]; query: Query }) {
  return (
    <Table variant="compact" gridBreakPoint="grid-lg" className="tabard-table">
      <Caption>ServiceAccounts of the namespaces that you may read</Caption>
      <Thead>
        <Tr>
          {columns.map(({ name, width }, index) => (
            <Th key={name} width={width} modifier="wrap" sort={sorting(columns, index, query, 'standing')}>{name}</Th>
          ))}
        </Tr>
      </Thead>
      <Tbody>{items.map((row) => <OneRow key={`${row.namespace}/${row.name}`} row={row} />)}</Tbody>
    </Table>
  )
}

function OneRow({ row }: { row: AccountRow }) {
  return (
    <Tr>
      <Th scope="row" dataLabel="Name" modifier="breakWord"><Link to={pathOf('serviceaccounts', row)}>{row.name}</Link></Th>
      <Td dataLabel="Namespace" modifier="breakWord">{row.namespace}</Td>
      <Td dataLabel="Role" modifier="breakWord"><RoleCell row={row} /></Td>
      <Td dataLabel="Written by" modifier="breakWord">{writtenBy(row)}</Td>
      <Td dataLabel="Pods" modifier="breakWord">
        {podsInWords(row)}
        {row.podsUnknown && <div className="tabard-small">{row.podsUnknown}</div>}
      </Td>
      <Td dataLabel="State" modifier="breakWord"><StateCell row={row} /></Td>
    </Tr>
  )
}
