// A window that another page opened.

/** A window that its opener brings to the front may come under a double click: its first half second takes none. */
export function guardPresses(): void {
  if (!window.opener) return;
  let since = performance.now();
  const renew = () => {
    since = performance.now();
  };
  addEventListener('focus', renew);
  document.addEventListener('visibilitychange', renew);
  const guard = (event: MouseEvent) => {
    // The keyboard has no clicks to count.
    if (event.detail === 0 || performance.now() - since > FRONT_MS) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener('click', guard, { capture: true });
}

const FRONT_MS = 500;
