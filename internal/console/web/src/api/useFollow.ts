import { useEffect, useRef } from 'react'
import { useEvents, type Live } from './events'
import type { Read } from './useRead'

// Followed is a stream of events: its path, which is empty where nothing is followed, the name of its
// events, and whether one says something else than the page shows.
export interface Followed<T, N> { path: string; name: string; differs: (news: N, data: T) => boolean }

// useFollow follows a part of the cluster, and has the page read it again when an event says something else
// than the page shows, or comes after a read that failed. A read that goes on is never broken off, and after
// its end a span of milliseconds passes before the next: a pod that crashes in a loop changes all the time.
// Of several changes the last is read. What the stream cannot look at, reading tells more about.
export function useFollow<T, N>({ path, name, differs }: Followed<T, N>, { data, problem, loading, retry }: Read<T>, span = 0): Live<N> {
  const live = useEvents<N>(path, name)
  // One event is one reason to read: what was read after it may be newer.
  const answered = useRef<unknown>(undefined)
  const ended = useRef(-Infinity)
  const reason = live.problem ?? live.data
  const isNews = live.problem !== undefined || problem !== undefined || !data || (live.data !== undefined && differs(live.data, data))
  useEffect(() => {
    if (!loading) ended.current = performance.now()
  }, [loading])
  useEffect(() => {
    if (!reason || loading || reason === answered.current || !isNews) return
    const timer = setTimeout(() => {
      answered.current = reason
      retry()
    }, Math.max(0, ended.current + span - performance.now()))
    return () => clearTimeout(timer)
  }, [reason, isNews, loading, retry, span])
  return live
}
