// What the scenarios need to drive the console in a browser.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

// open opens an address in a new window of its own, without the storage of the others.
export async function open(browser, address, { width = 1280, height = 800, scheme = 'light' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' })
  const page = await context.newPage()
  page.faults = guard(page, new URL(address).origin)
  await page.goto(address)
  return page
}

// guard collects what must not happen: requests to others, what the Content-Security-Policy refuses,
// errors in the console, and errors that nobody caught. An answer of the API may be an error.
export function guard(page, origin) {
  const faults = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && url.protocol !== 'data:') faults.push(`asks another host, ${url.origin}`)
  })
  page.on('console', (message) => {
    const text = message.text()
    if (text.includes('Content Security Policy') || text.includes('TrustedHTML')) faults.push(`breaks the policy: ${text}`)
    else if (message.type() === 'error' && !message.location().url.includes('/api/')) faults.push(`says in the console: ${text}`)
  })
  page.on('pageerror', (error) => faults.push(`throws ${error.message}`))
  return faults
}

// axe returns the violations of a page as texts, none if it is accessible as far as a program can tell.
export async function axe(page) {
  // By evaluation, which the page's policy does not refuse as it would a script element.
  await page.evaluate(axeSource)
  const violations = await page.evaluate(async (runOnly) => {
    const found = await window.axe.run(document, { runOnly, resultTypes: ['violations'] })
    return found.violations
  }, rules)
  return violations.map(({ id, help, nodes }) => {
    const first = nodes[0]
    return `${id}: ${help}: ${nodes.length} times, first ${first.html.slice(0, 200)} ${first.any?.[0]?.message ?? first.failureSummary ?? ''}`
  })
}

// cut returns the texts that end with an ellipsis for want of room. What is typed into a field is none.
export async function cut(page) {
  return page.evaluate(() => [...document.querySelectorAll('main *')]
    .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).textOverflow === 'ellipsis' && e.checkVisibility())
    .map((e) => e.textContent).filter(Boolean))
}

// sideways returns what makes a page scroll in both directions, or nothing.
export async function sideways(page) {
  return page.evaluate(() => {
    const roots = [document.scrollingElement, document.querySelector('.pf-v6-c-page__main-container'), document.querySelector('main')]
    const wide = roots.find((root) => root && root.scrollWidth > root.clientWidth + 1)
    if (!wide) return undefined
    const protruding = [...wide.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).at(-1)
    return `${wide.scrollWidth} px in ${wide.clientWidth} px, by ${protruding?.outerHTML.slice(0, 200)}`
  })
}
