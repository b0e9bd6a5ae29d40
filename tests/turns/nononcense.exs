# Nodes of NoNoncense 2, by the operations that were recorded from it (tests/vectors/08_leases.json), over a socket of Redis
# or PostgreSQL: each leases the lowest free machine ID, holds it for a moment, renews it, releases it. Prints one line a lease:
# machine ID, from and until when it was held, in microseconds since 1970.
#
#   elixir nononcense.exs redis <host> <port> <hash> <nodes> <leases each>
#   elixir nononcense.exs postgres <host> <port> <user> <database> <schema> <nodes> <leases each>

defmodule Redis do
  def open([host, port, hash]) do
    {:ok, socket} = :gen_tcp.connect(String.to_charlist(host), String.to_integer(port), [:binary, active: false, packet: :line])
    {socket, hash}
  end

  def acquire({_, hash} = state) do
    taken = for name <- command(state, ["HKEYS", hash]), {id, ""} <- [Integer.parse(name)], do: id
    id = Enum.find(0..511, &(&1 not in taken))
    token = Base.url_encode64(:crypto.strong_rand_bytes(16), padding: false)
    if write(state, "FNX", 60_000, id, token) == 1, do: {id, token}, else: acquire(state)
  end

  def renew(state, {id, token}), do: 1 = write(state, "FXX", 60_000, id, token)
  def release(state, {id, token}), do: 1 = write(state, "FXX", 0, id, token)

  defp write({_, hash} = state, condition, ms, id, token) do
    fields = ["#{id}", token, "token.#{id}.#{token}", "#{id}"]
    command(state, ["HSETEX", hash, condition, "PX", "#{ms}", "FIELDS", "2" | fields])
  end

  defp command({socket, _}, parts) do
    packed = for part <- parts, do: ["$#{byte_size(part)}\r\n", part, "\r\n"]
    :ok = :gen_tcp.send(socket, ["*#{length(parts)}\r\n", packed])
    reply(socket)
  end

  defp reply(socket) do
    {:ok, line} = :gen_tcp.recv(socket, 0)

    case String.trim_trailing(line) do
      ":" <> number -> String.to_integer(number)
      "*" <> count -> for _ <- List.duplicate(0, String.to_integer(count)), do: reply(socket)
      "$" <> _ -> socket |> :gen_tcp.recv(0) |> elem(1) |> String.trim_trailing()
      "-" <> error -> raise error
    end
  end
end

defmodule Postgres do
  def open([host, port, user, database, schema]) do
    {:ok, socket} = :gen_tcp.connect(String.to_charlist(host), String.to_integer(port), [:binary, active: false])
    parameters = "user\0#{user}\0database\0#{database}\0\0"
    :ok = :gen_tcp.send(socket, [<<byte_size(parameters) + 8::32, 196_608::32>>, parameters])
    rows(socket, [])
    query(socket, "set search_path to #{schema}")
    socket
  end

  def acquire(socket) do
    free = query(socket, "select id, lock_version from no_noncense_leases where expires_at < current_timestamp order by id limit 5")
    Enum.find_value(free, &claim(socket, &1)) || acquire(socket)
  end

  defp claim(socket, row) do
    [id, version] = row
    token = Base.encode16(:crypto.strong_rand_bytes(16))

    updated =
      query(socket, "update no_noncense_leases set token = '\\x#{token}', lock_version = lock_version + 1,
        expires_at = current_timestamp + interval '60 seconds' where id = #{id} and lock_version = #{version} returning 1")

    if updated == [["1"]], do: {String.to_integer(id), token}
  end

  def renew(socket, lease), do: [["1"]] = update(socket, lease, "60 seconds")
  def release(socket, lease), do: [["1"]] = update(socket, lease, "0 seconds")

  defp update(socket, {id, token}, length) do
    query(socket, "update no_noncense_leases set expires_at = current_timestamp + interval '#{length}',
      lock_version = lock_version + 1 where id = #{id} and token = '\\x#{token}' returning 1")
  end

  # The simple query protocol, for a server that asks for no password.
  defp query(socket, sql) do
    :ok = :gen_tcp.send(socket, [?Q, <<byte_size(sql) + 5::32>>, sql, 0])
    rows(socket, [])
  end

  defp rows(socket, found) do
    {:ok, <<type, length::32>>} = :gen_tcp.recv(socket, 5)
    {:ok, body} = if length > 4, do: :gen_tcp.recv(socket, length - 4), else: {:ok, ""}

    case {type, body} do
      {?Z, _} -> Enum.reverse(found)
      {?D, <<_::16, columns::binary>>} -> rows(socket, [columns(columns) | found])
      {?R, <<0::32, _::binary>>} -> rows(socket, found)
      {?R, _} -> raise "the server asks for a password"
      {?E, _} -> raise String.replace(body, "\0", " ")
      _ -> rows(socket, found)
    end
  end

  defp columns(<<>>), do: []
  defp columns(<<length::32, value::binary-size(length), rest::binary>>), do: [value | columns(rest)]
end

{store, address, [nodes, leases]} =
  case System.argv() do
    ["redis" | rest] -> {Redis, Enum.take(rest, 3), Enum.drop(rest, 3)}
    ["postgres" | rest] -> {Postgres, Enum.take(rest, 5), Enum.drop(rest, 5)}
  end

now = fn -> System.os_time(:microsecond) end

run = fn ->
  state = store.open(address)

  for _ <- 1..String.to_integer(leases) do
    {id, _} = lease = store.acquire(state)
    from = now.()
    store.renew(state, lease)
    Process.sleep(:rand.uniform(20))
    until = now.()
    store.release(state, lease)
    IO.puts("#{id} #{from} #{until}")
  end
end

1..String.to_integer(nodes) |> Enum.map(fn _ -> Task.async(run) end) |> Task.await_many(120_000)
