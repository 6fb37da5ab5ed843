import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { options } from './markdown.mjs'
import { menu } from './pages.mjs'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')
const docs = path.join(root, 'docs')
const repository = 'https://github.com/tabard-dev/tabard'
// The pages are in no folder below this package: what they are compiled to imports Vue as from here.
const packages = {
  name: 'packages',
  enforce: 'pre',
  resolveId(name, importer, how) {
    if (importer?.startsWith(docs) && /^vue(\/|$)/.test(name)) return this.resolve(name, fileURLToPath(import.meta.url), how)
  },
}
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 1h12v8a6 6 0 0 1-12 0z" fill="#3451b2"/></svg>`

export default defineConfig({
  title: 'Tabard',
  description: 'Cloud identity for Kubernetes without stored keys',
  lang: 'en-GB',
  srcDir: docs,
  outDir: path.join(root, 'bin/site'),
  // A site below a path, such as a project's on GitHub Pages, has it here.
  base: process.env.SITE_BASE || '/',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  markdown: options(root, repository),
  // The index of the search is one file, which is read when somebody searches.
  vite: { plugins: [packages], build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    nav: [{ text: 'Quickstart', link: '/quickstart' }, { text: 'Installing', link: '/install' }, { text: 'GitHub', link: repository }],
    sidebar: menu(docs),
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
