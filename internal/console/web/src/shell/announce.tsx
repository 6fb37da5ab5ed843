import { useSyncExternalStore } from 'react'

let text = ''
const listeners = new Set<() => void>()

// announce has screen readers say a text when they have finished what they say.
export function announce(next: string) {
  text = next
  listeners.forEach((listener) => listener())
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function LiveRegion() {
  const said = useSyncExternalStore(subscribe, () => text)
  return <div className="pf-v6-screen-reader" role="status" aria-live="polite">{said}</div>
}
