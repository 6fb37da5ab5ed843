import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { Operators, Row } from '../api/types'
import type { Query } from '../lists/query'
import { sorting, type Column } from '../lists/sorting'
import { CloudLabels } from './CloudLabels'
import { NameLink, State, Version, Whence } from './facts'
import { askedInWords } from './words'

const columns: Column[] = [
  { name: 'Name', sort: 'name', width: 30 },
  { name: 'Token login', width: 20 },
  { name: 'Version', sort: 'version', width: 15 },
  { name: 'Permissions', sort: 'permissions', width: 15 },
  { name: 'State', width: 20 },
]

interface Props { data: Operators; query: Query; without: string }

export function OperatorsTable({ data, query, without }: Props) {
  return (
    <Table variant="compact" gridBreakPoint="grid-lg" className="tabard-table">
      <Caption>Operators of the catalogues, and what they ask of the cloud</Caption>
      <Thead>
        <Tr>
          {columns.map((column, index) => (
            <Th key={column.name} width={column.width} modifier="wrap" sort={sorting(columns, index, query, 'name')}>{column.name}</Th>
          ))}
        </Tr>
      </Thead>
      <Tbody>{data.items.map((row) => <OneRow key={row.id} row={row} cloud={data.cloud} without={without} />)}</Tbody>
    </Table>
  )
}

function OneRow({ row, cloud, without }: { row: Row; cloud?: string; without: string }) {
  return (
    <Tr>
      <Th scope="row" dataLabel="Name" modifier="breakWord">
        <NameLink row={row} />
        <Whence row={row} />
      </Th>
      <Td dataLabel="Token login"><CloudLabels row={row} cloud={cloud} /></Td>
      <Td dataLabel="Version" modifier="breakWord">
        <Version row={row} />
      </Td>
      <Td dataLabel="Permissions" modifier="breakWord">
        {askedInWords(row.permissions)}
      </Td>
      <Td dataLabel="State" modifier="breakWord"><State row={row} without={without} /></Td>
    </Tr>
  )
}
