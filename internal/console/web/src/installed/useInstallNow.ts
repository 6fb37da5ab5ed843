import { useRef } from 'react'
import { useEvents } from '../api/events'
import type { InstallDetail, Problem } from '../api/types'
import { useRead } from '../api/useRead'

// InstallNow is what is known of an install, by reading it and by the stream of its news.
export interface InstallNow {
  install?: InstallDetail
  // Until when the install is known to be as it says.
  readAt?: string
  problem?: Problem
  silent: boolean
  retry: () => void
}

export function useInstallNow(ns: string, name: string): InstallNow {
  const read = useRead<InstallDetail>(`installs/${encodeURIComponent(ns)}/${encodeURIComponent(name)}`)
  const live = useEvents<InstallDetail>(`events?${new URLSearchParams({ install: `${ns}/${name}` })}`, 'install')
  const [atRead = 0, atLive = 0, ...at] = useOrder([read.data, live.data, live.problem, live.lost, read.problem])
  // A problem is one no more when a read went well after it.
  const problem = [live.problem, live.lost, read.problem].find((_problem, n) => at[n] && at[n] >= Math.max(atRead, atLive))
  const install = newer(read.data, live.data)
  const readAt = install && new Date(Math.max(Date.parse(install.readAt) || 0, live.goodAt)).toISOString()
  return { install, readAt, problem, silent: live.silent, retry: read.retry }
}

function newer(a?: InstallDetail, b?: InstallDetail): InstallDetail | undefined {
  if (!a || !b) return a ?? b
  return Date.parse(a.readAt) > Date.parse(b.readAt) ? a : b
}

// useOrder says in which order the values came: the later, the greater. What is not there has zero.
function useOrder(values: unknown[]): number[] {
  const last = useRef<{ turn: number; values: unknown[]; order: number[] }>({ turn: 0, values: [], order: [] })
  const { values: before, order: old } = last.current
  const turn = last.current.turn + 1
  const order = values.map((value, n) => {
    if (value === undefined) return 0
    return value === before[n] ? old[n] ?? turn : turn
  })
  last.current = { turn, values, order }
  return order
}
