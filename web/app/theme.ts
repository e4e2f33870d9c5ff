/** The reader's choice of light or dark; `system` follows the system. */

export type ThemeChoice = 'system' | 'light' | 'dark'

const STORED_AS = 'gatehouse-theme'
const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

export function readThemeChoice(): ThemeChoice {
  const stored = localStorage.getItem(STORED_AS)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem(STORED_AS)
  else localStorage.setItem(STORED_AS, choice)
  applyTheme()
}

export function applyTheme(): void {
  const choice = readThemeChoice()
  const isDark = choice === 'dark' || (choice === 'system' && systemIsDark.matches)
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light'
}

export function followSystemTheme(): void {
  applyTheme()
  systemIsDark.addEventListener('change', applyTheme)
}
