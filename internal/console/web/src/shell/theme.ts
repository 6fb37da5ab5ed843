import { useEffect, useState } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'tabard-theme'
const prefersDark = matchMedia('(prefers-color-scheme: dark)')

function chosen(): Theme {
  const stored = localStorage.getItem(key)
  return themes.find((theme) => theme === stored) ?? 'system'
}

export function applyTheme() {
  const theme = chosen()
  const dark = theme === 'dark' || (theme === 'system' && prefersDark.matches)
  document.documentElement.classList.toggle('pf-v6-theme-dark', dark)
}

// useTheme is the chosen theme. That of the system is followed while the page is open.
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(chosen)
  useEffect(() => {
    prefersDark.addEventListener('change', applyTheme)
    return () => prefersDark.removeEventListener('change', applyTheme)
  }, [])
  const choose = (next: Theme) => {
    localStorage.setItem(key, next)
    applyTheme()
    setTheme(next)
  }
  return [theme, choose]
}
