import { useEffect, useRef, type ReactNode } from 'react'
import { Stack } from '@patternfly/react-core'
import type { Accounts, Pods } from '../api/types'
import { useRead } from '../api/useRead'
import { Filters } from '../lists/Filters'
import { NoMatch } from '../lists/NoMatch'
import { Pages } from '../lists/Pages'
import { useQuery, type ListOf, type Query } from '../lists/query'
import { Search } from '../lists/Search'
import { Sort } from '../lists/Sort'
import { Unread } from '../lists/Unread'
import { useToolbar } from '../lists/useToolbar'
import { announce } from '../shell/announce'
import { useSession } from '../shell/session'
import { Command } from '../states/Command'
import { Partial } from '../states/Partial'
import { Stale } from '../states/Stale'
import { NothingRead, NothingThere } from './Nothing'
import { useChanged } from './useChanged'
import { kindNames, listPathOf, matchingInWords, type Kind } from './words'

const orders: Record<string, string> = {
  standing: 'State, the worst first',
  '-standing': 'State, the worst last',
  name: 'Name, A to Z',
  '-name': 'Name, Z to A',
  namespace: 'Namespace, A to Z',
  '-namespace': 'Namespace, Z to A',
  role: 'Role, A to Z',
  '-role': 'Role, Z to A',
}

interface Props<T> { kind: Kind; list: ListOf; children: (data: T, query: Query) => ReactNode }

// ListOfWorkloads is a list with its filters, which is read again when something in it changes.
export function ListOfWorkloads<T extends Pods | Accounts>({ kind, list, children }: Props<T>) {
  const hasCluster = useSession()?.hasCluster
  const query = useQuery(list)
  const read = useRead<T>(hasCluster ? query.path : '', { keep: true })
  const { data, problem, loading, retry } = read
  const live = useChanged(hasCluster ? 'workloads' : '', read)
  const toolbar = useToolbar(query, read)
  const summary = data ? matchingInWords(kind, data) : ''
  // What a person asked for is announced, and not each change of the cluster.
  const announced = useRef('')
  useEffect(() => {
    if (loading || summary === '' || announced.current === query.path) return
    announced.current = query.path
    announce(summary)
  }, [loading, summary, query.path])
  const lost = problem ?? live.lost
  return (
    <Stack hasGutter aria-busy={loading}>
      {/* A stream that is heard says that nothing has changed, however old the list is. */}
      {data && (lost || live.silent) && <Stale readAt={data.readAt} problem={lost} silent={live.silent} retry={retry} />}
      {data && <Partial findings={data.partly.map((message) => ({ code: 'partly', message }))} retry={retry} />}
      {toolbar.isShown && (
        <Filters
          query={query}
          facets={toolbar.last?.facets ?? []}
          search={<Search query={query} label={`Search ${kindNames[kind]}`} placeholder="Name, role" />}
          sort={<Sort query={query} orders={orders} usual="standing" />}
          pages={data && data.matching > 0 && <Pages data={data} query={query} variant="top" />}
        />
      )}
      {!data && <Unread what={kind === 'pods' ? 'the pods' : 'the ServiceAccounts'} whole={listPathOf(kind)} problem={problem} retry={retry} />}
      {data && (
        <>
          {data.items.length > 0 ? children(data, query) : <Nothing kind={kind} data={data} query={query} />}
          {data.items.length > 0 && <Pages data={data} query={query} variant="bottom" />}
          <p className="tabard-small">{summary}.</p>
          <Command label="The same objects by kubectl" command={data.command} />
        </>
      )}
    </Stack>
  )
}

interface PartProps { kind: Kind; data: Pods | Accounts; query: Query }

function Nothing({ kind, data, query }: PartProps) {
  if (data.total > 0) return <NoMatch title={`No ${kind === 'pods' ? 'pod' : 'ServiceAccount'} matches`} facets={data.facets} matching={data.matching} query={query} />
  return data.partly.length > 0 ? <NothingRead kind={kind} /> : <NothingThere kind={kind} />
}
