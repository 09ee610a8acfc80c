/** Single keys as shortcuts; a person may switch them off (WCAG 2.2, 2.1.4), and the browser keeps that. */
export interface Keys {
  isOn(): boolean;
  set(isOn: boolean): void;
}

/** Binds single keys, active while no field has the focus and no modifier is held. Escape leaves a field. */
export function bindKeys(
  actions: Readonly<Record<string, () => void>>,
  storage: Pick<Storage, 'getItem' | 'setItem'> | undefined,
): Keys {
  let isOn = storage?.getItem(KEY) !== 'off';
  document.addEventListener('keydown', (event) => {
    const target = event.target;
    const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    if (event.key === 'Escape' && isTyping) return target.blur();
    if (!isOn || event.ctrlKey || event.metaKey || event.altKey || (isTyping && target.type !== 'checkbox')) return;
    const act = actions[event.key];
    if (!act || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    act();
  });
  return {
    isOn: () => isOn,
    set(next) {
      isOn = next;
      storage?.setItem(KEY, next ? 'on' : 'off');
    },
  };
}

const KEY = 'vault-console-keys';
