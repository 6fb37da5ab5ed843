import { useEffect, useRef, useState } from 'react'
import { ApiError, stream } from './client'
import { isOver, useEnded } from './ended'
import type { Problem } from './types'

// The server sends something each 15 seconds. After so long without a byte it is not there any more.
const silentAfter = 40_000
const firstPause = 1_000
const longestPause = 30_000

export interface Message { name: string; data: string; id: string }

// EventParser reads server-sent events from pieces of text that may end anywhere.
export class EventParser {
  #rest = ''
  #name = ''
  #data: string[] = []
  #id = ''

  push(text: string): Message[] {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    return lines.flatMap((line) => this.#line(line.replace(/\r$/, '')))
  }

  #line(line: string): Message[] {
    if (line === '') return this.#end()
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? []
    if (field === 'event') this.#name = value
    if (field === 'data') this.#data.push(value)
    if (field === 'id') this.#id = value
    return []
  }

  #end(): Message[] {
    const message = { name: this.#name || 'message', data: this.#data.join('\n'), id: this.#id }
    const isEmpty = this.#data.length === 0
    this.#name = ''
    this.#data = []
    return isEmpty ? [] : [message]
  }
}

export interface Listener {
  onMessage: (message: Message) => void
  onHeard: () => void
  // The stream has been silent for long.
  onSilent: () => void
  // The stream could not be opened.
  onProblem: (problem: Problem) => void
}

// listen follows a stream, and opens it again when it ends, until what it returns is called.
export function listen(path: string, listener: Listener): () => void {
  const stopped = new AbortController()
  void follow(path, listener, stopped.signal)
  return () => stopped.abort()
}

async function follow(path: string, listener: Listener, stopped: AbortSignal) {
  let pause = firstPause
  let last = ''
  let heard = Date.now()
  let opened = heard
  let once = new AbortController()
  const watch = setInterval(() => {
    const now = Date.now()
    if (now - heard >= silentAfter) listener.onSilent()
    if (now - Math.max(heard, opened) >= silentAfter) once.abort()
  }, 1_000)
  stopped.addEventListener('abort', () => {
    clearInterval(watch)
    once.abort()
  })
  const onByte = () => {
    heard = Date.now()
    pause = firstPause
    listener.onHeard()
  }
  while (!stopped.aborted) {
    once = new AbortController()
    opened = Date.now()
    try {
      const response = await stream(path, last ? { 'Last-Event-ID': last } : {}, once.signal)
      for await (const message of messages(response, onByte)) {
        if (stopped.aborted) return
        last = message.id
        listener.onMessage(message)
      }
    } catch (error) {
      // Any other error is that the stream broke, or was silent for too long.
      if (error instanceof ApiError && !stopped.aborted) listener.onProblem(error.problem)
      if (error instanceof ApiError && isOver(error.problem)) return clearInterval(watch)
    }
    await sleep(pause, stopped)
    pause = Math.min(pause * 2, longestPause)
  }
}

async function* messages(response: Response, onByte: () => void): AsyncGenerator<Message> {
  const reader = response.body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  const parser = new EventParser()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    onByte()
    yield* parser.push(decoder.decode(value, { stream: true }))
  }
}

function sleep(time: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, time)
    stopped.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    }, { once: true })
  })
}

// Live is what a stream says: the newest data, what the server says went wrong since, and whether the
// stream is lost. A stream that is heard says that nothing has changed.
export interface Live<T> { data?: T; problem?: Problem; lost?: Problem; silent: boolean }

// useEvents is the newest of what a stream sends under a name. A page that nobody sees has no stream:
// a browser opens few connections to one server. After the end of the session it is opened when there is one again.
export function useEvents<T>(path: string, name: string): Live<T> {
  const [live, setLive] = useState<Live<T>>({ silent: false })
  const visible = useVisible()
  const { regained } = useEnded()
  const wanted = useRef(name)
  wanted.current = name
  useEffect(() => {
    if (path === '' || !visible) return
    return listen(path, {
      onMessage: (message) => {
        if (message.name === wanted.current) setLive({ data: JSON.parse(message.data) as T, silent: false })
        if (message.name === 'problem') setLive((old) => ({ ...old, problem: JSON.parse(message.data) as Problem }))
      },
      onHeard: () => setLive((old) => (old.silent || old.lost ? { ...old, silent: false, lost: undefined } : old)),
      onSilent: () => setLive((old) => (old.silent ? old : { ...old, silent: true })),
      onProblem: (lost) => setLive((old) => ({ ...old, lost })),
    })
  }, [path, visible, regained])
  return live
}

function useVisible(): boolean {
  const [visible, setVisible] = useState(() => document.visibilityState === 'visible')
  useEffect(() => {
    const look = () => setVisible(document.visibilityState === 'visible')
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [])
  return visible
}
