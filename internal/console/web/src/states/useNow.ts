import { useEffect, useState } from 'react'

// useNow is the time, and has the page say anew how old things are.
export function useNow(): number {
  const [, look] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => look(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  return Date.now()
}
