type User = { fid: number; username: string | null; verifiedAddresses: string[] };

const wanted = { fid: "977", address: "0x0000000000000000000000000000000000000003", name: "alice" };
for (const [field, value] of Object.entries(wanted)) {
  const url = `https://launchboard.example/api/get-user-by-${field}`;
  const response = await fetch(`${url}?${new URLSearchParams({ [field]: value })}`);
  if (response.status === 404) {
    console.log(field, "is of no stored user");
    continue;
  }
  if (!response.ok) throw new Error(await response.text());
  const user = (await response.json()) as User;
  console.log(user.fid, user.username, user.verifiedAddresses);
}
