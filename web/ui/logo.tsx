export function Logo({ isRailed = false }: { readonly isRailed?: boolean }) {
  return (
    <span className="flex shrink-0 items-center gap-2.5 text-[15px] font-semibold tracking-tight text-ink">
      <svg aria-hidden="true" viewBox="0 0 32 32" className="size-6">
        <rect width="32" height="32" rx="7" className="fill-accent" />
        <g fill="none" className="stroke-on-accent" strokeLinecap="round">
          <path d="M8 25V14a8 8 0 0 1 16 0v11" strokeWidth="3" />
          <path d="M16 13v12M12 17v8M20 17v8" strokeWidth="2" opacity="0.7" />
        </g>
      </svg>
      <span className={isRailed ? 'rail:sr-only' : undefined}>Gatehouse</span>
    </span>
  )
}
