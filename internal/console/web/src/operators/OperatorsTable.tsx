import { Link } from 'react-router-dom'
import { Label } from '@patternfly/react-core'
import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { Operators, Row } from '../api/types'
import type { Query } from '../lists/query'
import { sorting, type Column } from '../lists/sorting'
import { useSession } from '../shell/session'
import { sentence } from '../states/words'
import { CloudLabels } from './CloudLabels'
import { askedInWords, placeOf } from './words'

const columns: Column[] = [
  { name: 'Name', sort: 'name', width: 30 },
  { name: 'Token login', width: 20 },
  { name: 'Version', sort: 'version', width: 15 },
  { name: 'Permissions', sort: 'permissions', width: 15 },
  { name: 'State', width: 20 },
]

interface Props { data: Operators; query: Query }

export function OperatorsTable({ data, query }: Props) {
  const why = data.installedUnknown
  return (
    <>
      {why && <p className="tabard-small tabard-breaks">It is not known what is installed: {sentence(why)}</p>}
      <Whole data={data} query={query} />
    </>
  )
}

function Whole({ data, query }: Props) {
  const hasCluster = useSession()?.hasCluster ?? true
  // Where nothing is known of installs, no row says that there is none.
  const without = withoutInstall(hasCluster, data.installedUnknown)
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

function withoutInstall(hasCluster: boolean, unknown?: string): string {
  if (!hasCluster) return ''
  return unknown ? 'Not known' : 'Not installed'
}

function OneRow({ row, cloud, without }: { row: Row; cloud?: string; without: string }) {
  return (
    <Tr>
      <Th scope="row" dataLabel="Name" modifier="breakWord">
        <Name row={row} />
      </Th>
      <Td dataLabel="Token login"><CloudLabels row={row} cloud={cloud} /></Td>
      <Td dataLabel="Version" modifier="breakWord">
        {row.version ?? 'Not known'}
        {row.channel && <div className="tabard-small">{row.channel}</div>}
      </Td>
      <Td dataLabel="Permissions" modifier="breakWord">
        {askedInWords(row.permissions)}
      </Td>
      <Td dataLabel="State" modifier="breakWord"><State row={row} without={without} /></Td>
    </Tr>
  )
}

function Name({ row }: { row: Row }) {
  return (
    <>
      <Link to={`/operators/${encodeURIComponent(row.id)}`}>{row.displayName || row.package}</Link>
      <div className="tabard-small">{row.package}{row.provider && `, by ${row.provider}`}</div>
      <div className="tabard-small">from {placeOf(row.source)}</div>
    </>
  )
}

// The page of the operator has all of them.
const namespacesShown = 3

function State({ row, without }: { row: Row; without: string }) {
  const installed = row.installed ?? []
  return (
    <>
      {installed.length === 0 && without && <div>{without}</div>}
      {installed.slice(0, namespacesShown).map(({ namespace, state }) => (
        <div key={namespace} className="tabard-breaks">Installed in {namespace}{state && `, ${state}`}</div>
      ))}
      {installed.length > namespacesShown && <div>and in {installed.length - namespacesShown} more</div>}
      {row.deprecated && <div><Label isCompact color="orange" variant="outline">Deprecated</Label></div>}
    </>
  )
}
