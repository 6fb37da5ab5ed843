import { Link } from 'react-router-dom'
import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { PodRow } from '../api/types'
import type { Query } from '../lists/query'
import { sorting, type Column } from '../lists/sorting'
import { RoleCell, StateCell, writtenBy } from './cells'
import { pathOf } from './words'

const columns: Column[] = [
  { name: 'Name', width: 15, sort: 'name' },
  { name: 'Namespace', width: 10, sort: 'namespace' },
  { name: 'ServiceAccount', width: 15 },
  { name: 'Role', width: 20, sort: 'role' },
  { name: 'Written by', width: 15 },
  { name: 'State', width: 25, sort: 'standing' },
]

interface Props { items: PodRow[]; caption: string; query?: Query }

// PodsTable sorts where there is a query to sort by.
export function PodsTable({ items, caption, query }: Props) {
  return (
    <Table variant="compact" gridBreakPoint="grid-lg" className="tabard-table">
      <Caption>{caption}</Caption>
      <Thead>
        <Tr>
          {columns.map(({ name, width }, index) => (
            <Th key={name} width={width} modifier="wrap" sort={query && sorting(columns, index, query, 'standing')}>{name}</Th>
          ))}
        </Tr>
      </Thead>
      <Tbody>{items.map((row) => <OneRow key={`${row.namespace}/${row.name}`} row={row} />)}</Tbody>
    </Table>
  )
}

function OneRow({ row }: { row: PodRow }) {
  return (
    <Tr>
      <Th scope="row" dataLabel="Name" modifier="breakWord">
        <Link to={pathOf('pods', row)}>{row.name}</Link>
        {row.phase && <div className="tabard-small">{row.phase}</div>}
      </Th>
      <Td dataLabel="Namespace" modifier="breakWord">{row.namespace}</Td>
      <Td dataLabel="ServiceAccount" modifier="breakWord">{row.serviceAccount}</Td>
      <Td dataLabel="Role" modifier="breakWord"><RoleCell row={row} /></Td>
      <Td dataLabel="Written by" modifier="breakWord">{writtenBy(row)}</Td>
      <Td dataLabel="State" modifier="breakWord"><StateCell row={row} /></Td>
    </Tr>
  )
}
