// Where a person is: the app's request, the vault's own configuration, and the app as people know it.
import type { PageConfig } from './api.ts';
import { type AppLink, channelsFor } from './link.ts';

/** The request, the settings, and the app by the host that the person goes back to. */
export interface Place {
  readonly link: AppLink;
  readonly config: PageConfig;
  readonly app: string;
}

/** The channels with which somebody new registers. */
export function channelsOf({ link, config }: Place): readonly ('email' | 'sms')[] {
  return channelsFor(link, config.channels);
}
