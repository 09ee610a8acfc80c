/** Binds single keys, active while no field has the focus and no modifier is held. Escape leaves a field. */
export function bindKeys(actions: Readonly<Record<string, () => void>>): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target;
    const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    if (event.key === 'Escape' && isTyping) return target.blur();
    if (event.ctrlKey || event.metaKey || event.altKey || (isTyping && target.type !== 'checkbox')) return;
    const act = actions[event.key];
    if (!act || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    act();
  });
}
