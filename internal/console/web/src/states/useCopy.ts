import { useEffect, useState } from 'react'
import { announce } from '../shell/announce'

// So long it says that it was copied.
const shown = 2_000

// useCopy copies a text, and has what to say of it. Where the browser does not let it, the text on the
// page is selected, so that the person can copy it.
export function useCopy() {
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (said !== 'Copied') return
    const timer = setTimeout(() => setSaid(''), shown)
    return () => clearTimeout(timer)
  }, [said])
  const copy = async (text: string, place?: Element | null) => {
    try {
      await navigator.clipboard.writeText(text)
      setSaid('Copied')
    } catch {
      if (place) window.getSelection()?.selectAllChildren(place)
      setSaid('Press Ctrl-C to copy')
      announce('Press Ctrl-C to copy')
    }
  }
  return { said, copy }
}
