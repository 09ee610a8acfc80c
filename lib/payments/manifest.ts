/**
 * The web app manifest of the payment handler, as Chromium reads it: name, icons, worker. No `supported_delegations`,
 * as it refuses an empty list of those. A brand without a name has the name of the host.
 */
export function webAppManifest(brand: string, host: string, iconSizes: readonly number[]): object {
  return {
    name: brand === host ? `Vault Pay (${host})` : `${brand} Pay`,
    short_name: brand === host ? 'Vault Pay' : brand,
    icons: iconSizes.map((size) => ({
      src: `/icons/vault-${size}.png`,
      sizes: `${size}x${size}`,
      type: 'image/png',
    })),
    serviceworker: { src: '/pay/sw.js', scope: '/pay/', use_cache: false },
  };
}
